"""What kernels that run the site's notebooks show in place of widgets, and where it stands on a page."""
