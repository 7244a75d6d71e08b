import { describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { AppError } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import { keepingActions } from './kept-actions.ts'
import { liveCallsHere } from './live-calls.ts'
import { someLiveSession } from './live-session.fixture.ts'
import { type LiveSession, LiveSessions } from './live-sessions.ts'

const ACME = 'acme' as TenantId
const ASKED = { action: 'escalate', target: 'the boss' }

/** The calls of a node with this one alone, what those who watch it are told, and what was written down. */
function keeping(session: LiveSession, isAway = false) {
  const clock = new TestClock()
  const live = new LiveSessions(clock)
  live.add(session)
  const told: unknown[] = []
  session.events.watch(0, ({ data }) => told.push(data))
  const written: unknown[] = []
  const calls = keepingActions(liveCallsHere(live, clock), {
    keep: async ({ action }) => void written.push(action),
    async escalate(_tenantId, callSid, target) {
      if (isAway) throw new AppError('unavailable', 'The database is not reachable. Try again.')
      written.push({ callSid, target, told: told.length })
    },
  })
  return { calls, told, written }
}

describe('an escalation', () => {
  it('is written down before those who watch are told of it', async () => {
    const { calls, told, written } = keeping(someLiveSession())
    await calls.act(ACME, 'MZ1', ASKED)
    expect(written).toEqual([{ callSid: 'CA1', target: 'the boss', told: 0 }, 'escalate'])
    expect(told).toEqual([{ state: 'talking', escalated: true, escalation_target: 'the boss' }])
  })

  it('is told to nobody, and shown nowhere, where it cannot be written down', async () => {
    const { calls, told, written } = keeping(someLiveSession(), true)
    await expect(calls.act(ACME, 'MZ1', ASKED)).rejects.toMatchObject({ code: 'unavailable' })
    expect([told, written]).toEqual([[], []])
    expect(await calls.get(ACME, 'MZ1')).toMatchObject({ escalated: false, escalation_target: null })
  })

  it('is not written down of a call that is ending', async () => {
    const { calls, written } = keeping({ ...someLiveSession(), phase: 'draining' })
    await expect(calls.act(ACME, 'MZ1', ASKED)).rejects.toMatchObject({ code: 'conflict' })
    expect(written).toEqual([])
  })
})
