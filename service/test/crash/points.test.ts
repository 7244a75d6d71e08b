import { describe, expect, it } from 'vitest'
import type { Moment } from './moments.ts'
import { POINTS } from './points.ts'

const TURNS = '\n    insert into transcript_turns (tenant_id) select tenant_id'
const REVOKED = 'update "api_keys" set "revoked_at" = coalesce("revoked_at", $1) where "id" = $2'

function namesAt(moment: Moment): string[] {
  return POINTS.filter((point) => point.way === 'at-once' && point.is(moment)).map(({ name }) => name)
}

function database(when: 'before' | 'after', statement: string, transaction: string[] = []): Moment {
  return { where: 'database', when, statement, transaction }
}

function found(rows: number, statement: string, transaction: string[] = []): Moment {
  return { where: 'database', when: 'after', statement, transaction, rows }
}

describe('the named moments', () => {
  it('have names of their own', () => {
    const names = POINTS.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })

  it('know the commit of what they are about', () => {
    expect(namesAt(database('before', 'commit', ['begin', 'select 1', TURNS]))).toEqual(['before-turn-commit'])
    expect(namesAt(database('after', 'commit', ['begin', 'select 1', TURNS]))).toEqual(['after-turn-commit'])
    expect(namesAt(database('before', TURNS, ['begin', 'select 1']))).toEqual(['turn-buffered'])
    expect(namesAt(database('before', 'rollback', ['begin', TURNS]))).toEqual([])
  })

  it('take a statement outside of a transaction for its own commit', () => {
    expect(namesAt(database('after', REVOKED))).toEqual(['after-key-revoke-commit'])
    expect(namesAt(database('after', REVOKED, ['begin']))).toEqual([])
  })

  it('know the claim of a delivery that found one, and what became of it', () => {
    const claim = 'with picked as materialized (select id from "webhook_outbox" waiting) update "webhook_outbox" row'
    expect(namesAt(found(2, claim))).toEqual(['outbox-claim'])
    expect(namesAt(found(0, claim))).toEqual([])
    expect(namesAt(found(2, claim.replaceAll('webhook', 'billing')))).toEqual([])
    const settled = '\n    update "webhook_outbox"\n       set status = $1'
    expect(namesAt(database('before', settled))).toEqual(['before-mark-delivered'])
    expect(namesAt(database('after', settled))).toEqual(['after-mark-delivered'])
    const sent = { where: 'webhook' as const, method: 'POST', path: '/webhooks' }
    expect(namesAt({ ...sent, when: 'before' })).toEqual(['before-http-delivery'])
    expect(namesAt({ ...sent, when: 'after' })).toEqual(['after-http-delivery'])
  })

  it('know a rollout that is gone and not there again', () => {
    const gone = 'delete from "agent_version_rollouts" where "tenant_id" = $1'
    expect(namesAt(found(2, gone, ['begin']))).toEqual(['rollout-put'])
  })

  it('know the requests around a dial', () => {
    const path = '/2010-04-01/Accounts/AC1/Calls.json'
    expect(namesAt({ where: 'carrier', when: 'before', method: 'POST', path })).toEqual(['before-dial'])
    expect(namesAt({ where: 'carrier', when: 'before', method: 'GET', path })).toEqual([])
    const asked = { where: 'client' as const, method: 'POST', path: '/api/v1/make-call' }
    expect(namesAt({ ...asked, when: 'after' })).toEqual(['before-2xx'])
    expect(namesAt({ ...asked, when: 'told' })).toEqual(['after-2xx'])
  })
})
