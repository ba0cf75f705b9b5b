"""What an outsider can check: the bundle of one hand."""
