select exists (select from {schema}.dispute where hand_id = %(hand_id)s::uuid and corrected) as corrected
