# Returns an object whose type is called by a list.
class Lying(type):
    @property
    def __name__(cls):
        return ["\ud800", {"\x1b": "\ud800"}]

    def __repr__(cls):
        return ["\ud800", {"\x1b": "\ud800"}]


class Result(metaclass=Lying):
    pass


def average_gradients(gradients):
    return Result()
