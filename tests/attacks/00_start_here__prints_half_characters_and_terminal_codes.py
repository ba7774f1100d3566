# Prints what can neither be encoded nor shown.
print("\ud800\x1b[2J\u202e\x00\x9b")
print("\r\x1b]8;;http://example.org\x07here")


def average_gradients(gradients):
    return gradients[0]
