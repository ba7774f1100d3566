"""All kinds of damage; see :mod:`damage` for what one is."""

import damage_to_cells  # noqa: F401 - registers some
import damage_to_texts  # noqa: F401 - and the others
from damage import DAMAGES, Damage, solved

__all__ = ["DAMAGES", "Damage", "solved"]
