#!/bin/sh
# Run by the image when the primary is made: a role for the replica, with the same password.
set -eu
psql --username=bourse --dbname=bourse --set=ON_ERROR_STOP=1 --set=password="$POSTGRES_PASSWORD" <<'SQL'
create role replication login replication password :'password';
SQL
echo 'host replication replication samenet scram-sha-256' >> "$PGDATA/pg_hba.conf"
