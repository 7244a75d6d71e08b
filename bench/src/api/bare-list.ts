/**
 * The yardstick of lists: the bare keyset query behind a bare route, with no credential, no limit and no metrics. The database is
 * its argument, its own address its first line; it ends with its input.
 */
import fastify from 'fastify'
import pg from 'pg'
import { LISTS, type List } from './bare-columns.ts'

/** As many connections as the service has. */
const CONNECTIONS = 10

type Query = { tenant_id: string; limit: number }

const QUERY = {
  type: 'object',
  required: ['tenant_id', 'limit'],
  properties: { tenant_id: { type: 'string' }, limit: { type: 'integer' } },
}

function answerOf({ name, columns }: List): object {
  const rows = { type: 'array', items: { type: 'object', properties: columns } }
  return { type: 'object', properties: { ok: { type: 'boolean' }, count: { type: 'integer' }, [name]: rows } }
}

async function main(databaseUrl: string): Promise<void> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: CONNECTIONS, options: '-c timezone=UTC' })
  // The end of the server, after a signal, is no news here.
  pool.on('error', () => {})
  const server = fastify()
  for (const list of LISTS) {
    const names = Object.keys(list.columns).map((name) => `"${name}"`)
    const page = `select ${names.join()} from ${list.name} where tenant_id = $1 order by created_at desc, id desc limit $2`
    const schema = { querystring: QUERY, response: { 200: answerOf(list) } }
    server.get<{ Querystring: Query }>(list.path, { schema }, async ({ query: { tenant_id: tenantId, limit } }) => {
      const { rows } = await pool.query(page, [tenantId, limit])
      return { ok: true, count: rows.length, [list.name]: rows }
    })
  }
  process.stdout.write(`${await server.listen({ port: 0, host: '127.0.0.1' })}\n`)
  process.stdin.on('close', () => process.exit(0)).resume()
  process.on('SIGTERM', () => process.exit(0))
}

const [, , databaseUrl] = process.argv
if (databaseUrl === undefined) throw new Error('usage: <database url>')
await main(databaseUrl)
