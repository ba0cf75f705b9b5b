-- All that this process holds but these.
delete from lease.held where holder = %(holder)s and name <> all (%(names)s::text[])
