# Raises an error whose type is called by half of a character.
class Lying(type):
    @property
    def __name__(cls):
        return "\ud800"

    def __repr__(cls):
        return "\ud800"


class Result(metaclass=Lying):
    pass


def average_gradients(gradients):
    raise type.__call__(Lying, "E", (Exception,), {})("\ud800\x1b[2J")
