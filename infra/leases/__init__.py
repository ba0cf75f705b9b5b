"""Who does what where several processes could: work shared by leases, and taken over when one of them dies."""

from infra.leases.leases import FOLDER, LEASE_S, Leases, shared

__all__ = ["FOLDER", "LEASE_S", "Leases", "shared"]
