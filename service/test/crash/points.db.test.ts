import { beforeEach, expect, it } from 'vitest'
import type { TenantId } from '../../src/kernel/ids.ts'
import type { Db } from '../../src/platform/db/schema.ts'
import { endedCall } from '../../src/records/evaluations/evaluations.fixture.ts'
import { putFunctionCallsAcrossTenants } from '../../src/records/transcript-store.ts'
import { TestClock } from '../harness/clock.ts'
import { useDatabase } from '../harness/database.ts'
import { makeTenantWithToken } from '../harness/tenant-server.ts'
import { POINTS } from './points.ts'

const ACME = 'acme' as TenantId

const test = useDatabase()
beforeEach(() => makeTenantWithToken(test.db, ACME))

/** What is asked of the database in the course of `work`, as it is sent. */
async function statementsOf(work: (db: Db) => Promise<unknown>): Promise<string[]> {
  const sent: string[] = []
  const watched = test.db.withPlugin({
    transformQuery: ({ node, queryId }) => {
      sent.push(test.db.getExecutor().compileQuery(node, queryId).sql)
      return node
    },
    transformResult: async ({ result }) => result,
  })
  await work(watched)
  return sent
}

// Else a store that words its statement anew takes a moment away, and who kills at it waits in vain.
it('knows a call by the statements that the service sends', async () => {
  const transaction = await statementsOf(async (db) => {
    const session_id = await endedCall(db, new TestClock(), 'CA1')
    const ran = { call_id: 'c1', seq: 3, name: 'end_call', arguments: '{}', result: '{}', status: 'ok' } as const
    const calls = [{ tenant_id: ACME, session_id, ...ran, start_ms: 1, duration_ms: 2 }]
    await db.transaction().execute((tx) => putFunctionCallsAcrossTenants(tx, calls))
  })
  const moment = { where: 'database', when: 'before', statement: 'commit', transaction } as const
  const committed = POINTS.filter(({ way, is }) => way === 'at-once' && is(moment)).map(({ name }) => name)
  const stored = ['before-start-commit', 'before-turn-commit', 'before-tool-commit', 'before-end-commit']
  expect(committed).toEqual(expect.arrayContaining(stored))
})
