# Returns an object whose type has a name of a megabyte.
class Lying(type):
    @property
    def __name__(cls):
        return "x" * 2**20

    def __repr__(cls):
        return "x" * 2**20


class Result(metaclass=Lying):
    pass


def average_gradients(gradients):
    return Result()
