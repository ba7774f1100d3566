"""All kinds of damage, as defined in :mod:`damage`."""

import damage_to_cells  # noqa: F401 - registers its functions
import damage_to_files  # noqa: F401 - the same
import damage_to_texts  # noqa: F401 - the same
from damage import DAMAGES, Damage, solved

__all__ = ["DAMAGES", "Damage", "solved"]
