// A stand-in for Citus in one schema of a plain PostgreSQL: its tables of shards and nodes, and those of its
// functions that the engine calls. Citus is in no registry; this shows what the engine asks of it, not what
// Citus does.
import pg from 'pg';

/** The schema of its stores, which finds the stand-in before anything else. */
const SCHEMA = 'bourse';

const made = `
  create schema ${SCHEMA}; set search_path = ${SCHEMA};
  insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    values (99999, 'citus', 10, 11, false, '13.2-1');
  create table pg_dist_partition (logicalrelid regclass primary key, distribution_column text);
  create table pg_dist_node (groupid int, nodename text, nodeport int, noderole text default 'primary', isactive boolean default true,
    shouldhaveshards boolean default true, answers boolean default true);
  create table pg_dist_shard (logicalrelid regclass, shardid bigint, shardminvalue text, shardmaxvalue text);
  create table pg_dist_placement (shardid bigint, groupid int);
  insert into pg_dist_node (groupid, nodename, nodeport, shouldhaveshards) values (0, 'coordinator', 5432, false);
  insert into pg_dist_node (groupid, nodename, nodeport) values (1, 'east', 5432), (2, 'west', 5432);
  create function create_distributed_table(t regclass, c text, colocate_with text default 'default') returns void as $$
    insert into pg_dist_partition values (t, c);
    insert into pg_dist_shard values (t, 101, '-2147483648', '-1'), (t, 102, '0', '2147483647');
    insert into pg_dist_placement values (101, 1), (102, 2);
    create table bar_blocks_101 (a text); create table bar_blocks_102 (a text); $$ language sql;
  create function citus_check_connection_to_node(host text, port int default 5432) returns boolean as
    $$ select answers from pg_dist_node where (nodename, nodeport) = (host, port) $$ language sql;
  create function master_run_on_worker(hosts text[], ports int[], texts text[], parallel boolean)
    returns table (node_name text, node_port int, success boolean, result text) as $$
    declare answer text; begin execute texts[1] into answer; return query select hosts[1], ports[1], true, answer; end $$ language plpgsql;`;

/** Makes the stand-in on a server, and gives a connection to it. */
export async function startStandIn(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(made);
  return client;
}
