"""What all tests share."""

from hypothesis import settings

# A busy computer is slow, not wrong: no example is timed.
settings.register_profile("collectord", deadline=None)
settings.load_profile("collectord")
