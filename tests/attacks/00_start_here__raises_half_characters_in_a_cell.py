# Ends a cell with an error whose message and type cannot be encoded.
class Lying(type):
    @property
    def __name__(cls):
        return "\udfff"

    def __repr__(cls):
        return "\udfff"


class Result(metaclass=Lying):
    pass


def average_gradients(gradients):
    return gradients[0]


raise Lying("E", (Exception,), {})("\ud800\x1b[2J")
