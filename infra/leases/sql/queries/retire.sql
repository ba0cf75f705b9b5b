with given_up as (delete from lease.held where holder = %(holder)s)
delete from lease.candidate where holder = %(holder)s
