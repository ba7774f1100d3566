"""A class: its notebooks, its students, what they handed in, their marks, and what the instructor makes of them."""
