-- What is done now, or can be, and by whom, of all processes.
select distinct name, holder from lease.candidate where until > clock_timestamp()
union select name, holder from lease.held where until > clock_timestamp()
