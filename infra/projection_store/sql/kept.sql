select exists (select from lease.held where name = %s and until > clock_timestamp())
