import { sql } from 'kysely'
import type { Db } from '../../src/platform/db/schema.ts'

/** The SQLSTATE of a disk that is full. */
const DISK_FULL = '53100'

/** Has the database refuse each new row of a table. */
export async function refuseRows(db: Db, table: string, state = DISK_FULL): Promise<void> {
  await sql`
    create function refuse_row() returns trigger language plpgsql as $$
    begin raise exception 'refused' using errcode = ${sql.lit(state)}; end $$`.execute(db)
  await sql`
    create trigger refusing before insert on ${sql.table(table)} for each row execute function refuse_row()`.execute(db)
}

/** There is no room for a file of any table either. */
export async function refuseTables(db: Db): Promise<void> {
  await sql`
    create function refuse_table() returns event_trigger language plpgsql as $$
    begin raise exception 'refused' using errcode = ${sql.lit(DISK_FULL)}; end $$`.execute(db)
  await sql`
    create event trigger refusing on ddl_command_start when tag in ('CREATE TABLE') execute function refuse_table()`.execute(
    db,
  )
}

/** Takes back what was refused; repeating it changes nothing. */
export async function takeAgain(db: Db): Promise<void> {
  await sql`drop event trigger if exists refusing`.execute(db)
  await sql`drop function if exists refuse_row, refuse_table cascade`.execute(db)
}
