"""Every row of migrations of the service, in the order in which they run."""

from infra import beat, dispute_keys, leases
from infra.projection_store.queries import FOLDER as PROJECTIONS
from infra.store.migrate import STORE

FOLDERS = (STORE, beat.FOLDER, PROJECTIONS, leases.FOLDER, dispute_keys.FOLDER)
