import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'
import { systemClock } from '../src/kernel/clock.ts'
import { tenantTold } from '../src/records/calls.fixture.ts'
import { assessmentOf, endedCall } from '../src/records/evaluations/evaluations.fixture.ts'
import { type ChatServer, startChatServer } from './harness/chat-server.ts'
import { TestClock } from './harness/clock.ts'
import { endLeases } from './harness/leases.ts'
import { killPrograms, startProgram } from './harness/program.ts'
import { type Copy, copyTemplate } from './harness/template.ts'
import { makeTenantWithToken } from './harness/tenant-server.ts'
import { until } from './harness/wait.ts'

const SECOND_MS = 1_000
/** The program starts twice, on a machine that may be busy with other tests. */
const AT_LEISURE = { timeout: 120_000 }
const SCORED_WITHIN_MS = 45_000
const EXTRACTION = { type: 'object', properties: { guests: { type: 'integer' } } }

describe('a session that was being scored when its process was killed', () => {
  let copy: Copy
  let provider: ChatServer

  beforeAll(async () => {
    copy = await copyTemplate(inject('databaseTemplate'))
    provider = await startChatServer()
  })
  afterEach(killPrograms)
  afterAll(async () => {
    await provider.close()
    await copy.remove()
  })

  /** A call that has ended, and that nobody has scored. */
  async function haveCall(): Promise<void> {
    const database = await copy.open()
    await makeTenantWithToken(database.db, 'acme')
    const document = JSON.stringify({ agent: { extraction: EXTRACTION } })
    await sql`update tenants set document = document || ${document}::jsonb`.execute(database.db)
    const clock = new TestClock(systemClock.now() - SECOND_MS)
    await endedCall(database.db, clock, 'CA1', {
      ...{ tenant: tenantTold('acme', null), lastsMs: SECOND_MS, wantsExtraction: true },
      facts: { agent: { agentKey: null, agentName: 'Robin', versionId: null, versionNumber: null } },
    })
    await database.close()
  }

  it('is scored by the next one, and gives what is to be taken from it, once', AT_LEISURE, async () => {
    await haveCall()
    const settings = {
      ...{ ENCRYPTION_KEY: randomBytes(32).toString('base64'), ...copy.settings },
      ...{ OPENAI_API_KEY: 'sk-key-of-the-tests', OPENAI_BASE_URL: provider.baseUrl },
    }
    provider.answer('nothing')
    const killed = startProgram(settings)
    await killed.listening()
    await until(() => provider.asked.length === 1, { what: 'the model to be asked', timeoutMs: SCORED_WITHIN_MS })
    await killed.end('SIGKILL')
    await endLeases(copy, 'session_scorings')

    provider.answer({ says: assessmentOf(0.9) }, { says: '{"guests": 4}' })
    const address = await startProgram(settings).listening()
    const headers = { authorization: 'Bearer bearer-token-of-acme' }
    const evaluations = async () => {
      const response = await fetch(`${address}/api/v1/evaluations?source=model`, { headers })
      const { evaluations: found } = (await response.json()) as { evaluations: { score: number }[] }
      return found.length > 0 ? found : null
    }
    const scored = await until(evaluations, { what: 'it to be scored', timeoutMs: SCORED_WITHIN_MS, everyMs: 100 })
    expect(scored).toMatchObject([{ score: 0.9 }])
    // The score is kept before the model is asked what is to be taken from the call.
    const extracted = async () => {
      const response = await fetch(`${address}/api/v1/voice-sessions`, { headers })
      const { voice_sessions: found } = (await response.json()) as { voice_sessions: { extraction: unknown }[] }
      return found[0]?.extraction ? found : null
    }
    const sessions = await until(extracted, { what: 'the rest', timeoutMs: SCORED_WITHIN_MS, everyMs: 100 })
    expect(sessions).toMatchObject([{ extraction: { guests: 4 }, qa: { score: 0.9 } }])
    expect(provider.asked).toHaveLength(3)
  })
})
