import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useDatabase } from '../test/harness/database.ts'
import { ConfigError, readConfig } from './config.ts'
import { systemClock } from './kernel/clock.ts'
import { makeSealer } from './kernel/seal.ts'
import { makeTenants } from './tenancy/tenants.ts'
import { loadTenants } from './tenants-file.ts'

const test = useDatabase()
const TOKEN = 'a-token-that-two-tenants-have'

function tenantsHere() {
  const sealer = makeSealer(Buffer.alloc(32, 1))
  return makeTenants({ db: test.db, clock: systemClock, sealer, defaultTelephonyToken: false, onChange() {} })
}

async function fileOf(documents: string): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'tenants-')), 'tenants.json')
  await writeFile(path, documents)
  return path
}

/** The line with which the start stops. */
async function faultOf(path: string): Promise<unknown> {
  return loadTenants(path, tenantsHere()).then(
    () => null,
    (error: unknown) => (error instanceof ConfigError ? error.faults[0] : error),
  )
}

describe('TENANTS_FILE', () => {
  it('makes its tenants', async () => {
    await loadTenants(await fileOf('[{"tenant_id": "acme"}, {"tenant_id": "globex"}]'), tenantsHere())
    const { rows } = await tenantsHere().list({ limit: 10, offset: 0, after: null })
    expect(rows.map(({ tenantId }) => tenantId).toSorted()).toEqual(['acme', 'globex'])
  })

  it('is read behind the byte order mark of an editor', async () => {
    await loadTenants(await fileOf('\uFEFF[{"tenant_id": "acme"}]\r\n'), tenantsHere())
    const { rows } = await tenantsHere().list({ limit: 10, offset: 0, after: null })
    expect(rows.map(({ tenantId }) => tenantId)).toEqual(['acme'])
  })

  it.each([
    ['{"tenant_id": "acme"}', /^TENANTS_FILE must hold a JSON array/],
    ['[{"auth_token": "a secret of the tests"', /^TENANTS_FILE must hold a JSON array[^"]*$/],
    ['["acme"]', /^TENANTS_FILE .* number 1: must be an object/],
    ['[{"tenant_id": "acme"}, {"tenant_id": "Globex"}]', /^TENANTS_FILE .* number 2: tenant_id/],
    ['[{"tenant_id": "acme", "colour": "red"}]', /^TENANTS_FILE .* number 1: colour/],
    ['[{"tenant_id": "acme"}, {"tenant_id": "acme"}]', /^TENANTS_FILE .* number 2: its tenant_id stands in the file/],
    [
      `[{"tenant_id": "acme", "auth_token": "${TOKEN}"}, {"tenant_id": "globex", "auth_token": "${TOKEN}"}]`,
      /^TENANTS_FILE .* number 2: The auth_token is held/,
    ],
  ])('%j stops the start with a line that names it', async (documents, fault) => {
    expect(await faultOf(await fileOf(documents))).toMatch(fault)
  })

  it('that is not there stops the start', async () => {
    expect(await faultOf(join(tmpdir(), 'there-is-no-such-file.json'))).toBe('TENANTS_FILE cannot be read (ENOENT).')
  })

  it('is read only where there is no database', () => {
    const read = () => readConfig({ TENANTS_FILE: 'tenants.json' })
    expect(read).toThrow('TENANTS_FILE is read only with DATABASE_URL=none')
    expect(readConfig({ DATABASE_URL: 'none' }).database).toEqual({ kind: 'none' })
  })
})
