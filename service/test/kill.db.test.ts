import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { killPrograms, startProgram } from './harness/program.ts'
import { type Copy, copyTemplate } from './harness/template.ts'

const ADMIN_API_KEY = 'ak_key_of_the_kill_tests'
/** Every change runs a few rounds; the full run proves the figure that the documentation gives. */
const ROUNDS = process.env['PARLEY_TEST_FULL'] ? 50 : 4
const WRITERS = 4
const ROUND_MS = 45_000

type Acknowledged = { tenantId: string; name: string }

describe('kill -9', () => {
  let copy: Copy
  let settings: Record<string, string>

  beforeAll(async () => {
    copy = await copyTemplate(inject('databaseTemplate'))
    settings = { ...copy.settings, ADMIN_API_KEY }
  })

  afterEach(killPrograms)
  afterAll(() => copy.remove())

  it(`loses no acknowledged write in ${ROUNDS} rounds`, { timeout: ROUNDS * ROUND_MS }, async () => {
    const acknowledged: Acknowledged[] = []
    for (let round = 1; round <= ROUNDS; round++) {
      const program = startProgram(settings)
      const address = await program.listening()
      expect(await missing(address, acknowledged), `after round ${round - 1}`).toEqual([])
      // Another number of writes each round, so that the kill finds the database at other moments.
      const wanted = acknowledged.length + 3 + ((round * 7) % 23)
      await writeUntil(address, acknowledged, { round, wanted, enough: () => process.kill(program.pid, 'SIGKILL') })
      expect((await program.end()).signal).toBe('SIGKILL')
    }
    const program = startProgram(settings)
    expect(await missing(await program.listening(), acknowledged)).toEqual([])
    await program.end('SIGTERM')
    expect(acknowledged.length).toBeGreaterThan(ROUNDS * 3)
  })
})

type Round = { round: number; wanted: number; enough(): void }

/** Several writers at once, so that the kill always finds writes on their way. Only what was answered is noted. */
async function writeUntil(
  address: string,
  acknowledged: Acknowledged[],
  { round, wanted, enough }: Round,
): Promise<void> {
  let isKilled = false
  const writer = async (lane: number) => {
    for (let i = 0; !isKilled; i++) {
      const written = { tenantId: `r${round}-w${lane}-${i}`, name: `Round ${round} writer ${lane} row ${i}` }
      const answer = await put(address, written).catch(() => null)
      if (answer === 200) acknowledged.push(written)
      if (acknowledged.length >= wanted && !isKilled) {
        isKilled = true
        enough()
      }
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, (_, lane) => writer(lane)))
}

async function put(address: string, { tenantId, name }: Acknowledged): Promise<number> {
  const response = await fetch(`${address}/api/v1/admin/tenants/${tenantId}`, {
    method: 'PUT',
    headers: { 'x-admin-key': ADMIN_API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ tenant_id: tenantId, name }),
  })
  return response.status
}

type ListPage = { tenants: { tenant_id: string; config: { name: string } }[]; next_cursor: string | null }

/** What was acknowledged and is not there, or not as it was written. */
async function missing(address: string, acknowledged: Acknowledged[]): Promise<Acknowledged[]> {
  const names = new Map<string, string>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? 'limit=500' : `limit=500&cursor=${cursor}`
    const response = await fetch(`${address}/api/v1/admin/tenants?${query}`, {
      headers: { 'x-admin-key': ADMIN_API_KEY },
    })
    const page = (await response.json()) as ListPage
    for (const { tenant_id, config } of page.tenants) names.set(tenant_id, config.name)
    cursor = page.next_cursor
  }
  return acknowledged.filter(({ tenantId, name }) => names.get(tenantId) !== name)
}
