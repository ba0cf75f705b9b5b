"""The steward: what nobody asks for is done here, once, whoever is killed when. Source: DESIGN "The steward"."""
