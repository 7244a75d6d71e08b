import { describe, expect, it } from 'vitest'
import type { TenantId } from '../kernel/ids.ts'
import { pressed } from '../records/pressed-keys.ts'
import { toRuntime } from '../tenancy/tenant-defaults.ts'
import { keptWords } from './kept-words.ts'
import { LiveEvents } from './live-events.ts'
import { clipId } from './session/clip-id.ts'
import type { Turn } from './session/events.ts'
import { targetIn, throughTo } from './session/not-through.ts'

const ACCOUNT = { account_sid: null, auth_token: null, from_number: null }
const TENANT = toRuntime({ tenant_id: 'acme' as TenantId, compliance: { redact_pii: true } }, ACCOUNT)
const TURN: Turn = {
  ...{ itemId: 'item_1', seq: 1, role: 'agent', text: '', unheard: '', interrupted: false },
  ...{ startMs: 0, endMs: 900, sentMs: null, heardMs: null },
}

/** What is kept of a turn, which those who watch are told as well. */
function kept(turn: Partial<Turn>): Pick<Turn, 'text' | 'unheard'> {
  const journaled: Turn[] = []
  const events = new LiveEvents()
  const told: unknown[] = []
  events.watch(0, ({ data: { text, unheard } }) => told.push({ text, unheard }))
  const journal = { append: (one: Turn) => journaled.push(one), tool: () => undefined }
  keptWords({ tenant: TENANT, journal, events }).turn({ ...TURN, ...turn })
  const [{ text, unheard } = TURN] = journaled
  expect(told).toEqual([{ text, unheard }])
  return { text, unheard }
}

describe('of a call of a tenant that wants no personal data kept', () => {
  const said = { text: 'Write to care@example.org', unheard: 'or call +1 202 555 0101.' }

  it('what is said loses it', () => {
    expect(kept(said)).toEqual({ text: 'Write to [email]', unheard: 'or call [phone].' })
  })

  it('is cut in no character where it is longer than is kept', () => {
    const { text } = kept({ text: `x${'😀'.repeat(40_000)}` })
    expect([text.length, text.isWellFormed()]).toEqual([65_536, true])
  })

  it("a clip stays as it was configured: those are the tenant's own words", () => {
    expect(kept({ ...said, itemId: clipId(1) })).toEqual(said)
  })

  it('the number that a call is put through to stays, so that another process can pick it up', () => {
    const { text } = kept({ role: 'system', text: throughTo('+12025550101') })
    expect(targetIn(text)).toBe('+12025550101')
    expect(kept({ role: 'caller', text: throughTo('+12025550101') }).text).toBe(throughTo('[phone]'))
  })

  it.each([
    ['1984', '[digits]'],
    ['123', '[digits]'],
    ['42', '42'],
  ])('an entry on the keypad is no year: %s', (keys, told) => {
    expect(kept({ role: 'system', text: pressed(keys) }).text).toBe(pressed(told))
  })
})
