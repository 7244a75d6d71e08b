import { randomBytes } from 'node:crypto'
import pg from 'pg'

/** A database of this run alone, and a connection to it that may do anything. */
export type BenchDatabase = { url: string; client: pg.Client; drop(): Promise<void> }

/** Makes one on the server at `serverUrl`, whose user is a superuser. */
export async function makeDatabase(serverUrl: string): Promise<BenchDatabase> {
  const name = `bench_${randomBytes(6).toString('hex')}`
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  await onServer(serverUrl, `create database ${name}`)
  const client = new pg.Client({ connectionString: url.href, application_name: 'bench' })
  // The end of the server, after a signal, is no news here.
  client.on('error', () => {})
  const drop = async () => {
    await client.end()
    await onServer(serverUrl, `drop database ${name} with (force)`)
  }
  try {
    await client.connect()
  } catch (error) {
    await drop()
    throw error
  }
  return { url: url.href, client, drop }
}

async function onServer(connectionString: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
