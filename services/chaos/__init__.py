"""`khrap chaos`: bots play while a seeded schedule breaks things, and what must hold is checked all the time.

Source: DESIGN "The command line".
"""
