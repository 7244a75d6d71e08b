import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { openEmbedded } from '../../src/platform/db/embedded.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import type { Database } from '../../src/platform/db/schema.ts'
import { openServer } from '../../src/platform/db/server.ts'
import { scratchFolder } from './scratch.ts'

/** A migrated database that each test file copies, made once for a run. Plain data: it is handed to other processes. */
export type Template = { kind: 'embedded'; folder: string } | { kind: 'server'; url: string; name: string }

/** A copy of a template. `open` gives another handle on it: on a server a node of its own, on the embedded one the same. */
export type Copy = {
  kind: Template['kind']
  /** The settings with which the whole program runs on this copy; not while a handle of `open` has an embedded one. */
  settings: Record<string, string>
  open(): Promise<Database>
  remove(): Promise<void>
}

export const MIGRATIONS = new URL('../../migrations/', import.meta.url)

export async function makeEmbeddedTemplate(): Promise<Template> {
  const folder = await scratchFolder()
  await migrated(await openEmbedded({ pid: process.pid, folder }))
  return { kind: 'embedded', folder }
}

/** @param url of a database on the server, whose user may create others. */
export async function makeServerTemplate(url: string): Promise<Template> {
  const name = newName()
  await administer(url, `create database ${name}`)
  await migrated(openCopy(url, name))
  return { kind: 'server', url, name }
}

export async function removeTemplate(template: Template): Promise<void> {
  if (template.kind === 'embedded') await rm(template.folder, { recursive: true })
  else await administer(template.url, `drop database ${template.name}`)
}

export async function copyTemplate(template: Template): Promise<Copy> {
  return template.kind === 'embedded' ? copyFolder(template.folder) : copyDatabase(template.url, template.name)
}

const run = promisify(execFile)

async function copyFolder(template: string): Promise<Copy> {
  const dataDir = await scratchFolder()
  const folder = join(dataDir, 'database')
  // A thousand files: Node's own `cp` takes a second of the processor for them.
  await run('cp', ['-R', template, folder])
  let opened: Promise<Database> | undefined
  return {
    kind: 'embedded',
    settings: { DATA_DIR: dataDir },
    open() {
      opened ??= openEmbedded({ pid: process.pid, folder })
      return opened
    },
    remove: () => rm(dataDir, { recursive: true }),
  }
}

async function copyDatabase(url: string, template: string): Promise<Copy> {
  const name = newName()
  await administer(url, `create database ${name} template ${template}`)
  return {
    kind: 'server',
    settings: { DATABASE_URL: copyUrl(url, name), ENCRYPTION_KEY: randomBytes(32).toString('base64') },
    open: async () => openCopy(url, name),
    // What a test left open must not keep the database.
    remove: () => administer(url, `drop database ${name} with (force)`),
  }
}

function openCopy(url: string, name: string): Database {
  return openServer({ url: copyUrl(url, name), applicationName: 'parley tests' })
}

function copyUrl(url: string, name: string): string {
  const copy = new URL(url)
  copy.pathname = `/${name}`
  return copy.href
}

async function migrated(database: Database): Promise<void> {
  try {
    await migrate(database.db, MIGRATIONS)
  } finally {
    await database.close()
  }
}

/** `create database` and `drop database` want a connection of their own. */
async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

function newName(): string {
  return `parley_test_${randomBytes(6).toString('hex')}`
}
