"""A class: its notebooks, its students and their submissions, the marks, and what the instructor does with them."""
