import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../kernel/canonical-json.ts'
import { makeSealer } from '../kernel/seal.ts'
import type { TenantDocument } from './tenant-document.ts'
import { CANARIES, documents, FULL_DOCUMENT } from './tenant-documents.fixture.ts'
import { hideSecrets, keepStored, openSecrets, sealSecrets } from './tenant-secrets.ts'

const sealer = makeSealer(Buffer.alloc(32, 7))

function leaks(value: unknown): string[] {
  const text = JSON.stringify(value)
  return Object.values(CANARIES).filter((canary) => text.includes(canary))
}

describe('the secrets of a tenant document', () => {
  it('hides every one of them, and nothing else', () => {
    expect(leaks(FULL_DOCUMENT)).toHaveLength(Object.keys(CANARIES).length)
    const hidden = hideSecrets(FULL_DOCUMENT)
    expect(leaks(hidden)).toEqual([])
    expect(JSON.stringify(hidden).match(/"\*\*\*"/g)).toHaveLength(Object.keys(CANARIES).length)
    expect(hidden).toMatchObject({ name: 'Acme Dental', webhook: { url: FULL_DOCUMENT.webhook?.url } })
  })

  it('changes no document that it was given', () => {
    const before = canonicalJson(FULL_DOCUMENT)
    hideSecrets(FULL_DOCUMENT)
    sealSecrets(FULL_DOCUMENT, sealer)
    keepStored(FULL_DOCUMENT, FULL_DOCUMENT, '/body')
    expect(canonicalJson(FULL_DOCUMENT)).toBe(before)
  })

  it('seals them all, and opens what it sealed, for any document', () => {
    expect(leaks(sealSecrets(FULL_DOCUMENT, sealer))).toEqual([])
    fc.assert(
      fc.property(documents(), (document) => {
        expect(openSecrets(sealSecrets(document, sealer), sealer)).toEqual(document)
      }),
    )
  })

  it('opens no secret that was moved to another tenant, or to another place in the document', () => {
    const sealed = sealSecrets(FULL_DOCUMENT, sealer)
    const moved = { ...sealed, tenant_id: 'globex' } as TenantDocument
    expect(() => openSecrets(moved, sealer)).toThrow()
    const swapped = { ...sealed, webhook: { url: 'https://evil.example.com', secret: sealed.auth_token } }
    expect(() => openSecrets(swapped as TenantDocument, sealer)).toThrow()
  })

  it('gets the same document back when what was shown is sent again, for any document', () => {
    fc.assert(
      fc.property(documents(), (document) => {
        expect(keepStored(hideSecrets(document), document, '/body')).toEqual({ document, faults: [] })
      }),
    )
  })

  it('finds headers again by the names of tool and header, whatever their order and case', () => {
    const hidden = hideSecrets(FULL_DOCUMENT)
    const [http, mcp] = hidden.tools ?? []
    const next = { ...hidden, tools: [mcp, { ...http, headers: { authorization: '***' } }] } as TenantDocument
    const { document, faults } = keepStored(next, FULL_DOCUMENT, '/body')
    expect(faults).toEqual([])
    expect(document.tools?.map(({ headers }) => headers)).toEqual([
      { 'x-api-key': CANARIES.mcpHeader },
      { authorization: CANARIES.httpHeader },
    ])
  })

  it('takes a new secret in place of the stored one', () => {
    const next = { ...hideSecrets(FULL_DOCUMENT), auth_token: 'a-new-legacy-token' }
    const { document } = keepStored(next, FULL_DOCUMENT, '/body')
    expect(document.auth_token).toBe('a-new-legacy-token')
    expect(document.telephony?.auth_token).toBe(CANARIES.telephonyToken)
  })

  it('keeps no secret for another host than the one that it was given for', () => {
    const hidden = hideSecrets(FULL_DOCUMENT)
    const [http, mcp] = hidden.tools ?? []
    const next = {
      ...hidden,
      ticketing: { ...hidden.ticketing, base_url: 'https://tickets.attacker.example' },
      tools: [
        { ...http, url: 'https://attacker.example/collect' },
        { ...mcp, url: `${mcp?.url}/elsewhere` },
      ],
    } as TenantDocument
    const { document, faults } = keepStored(next, FULL_DOCUMENT, '/body')
    const message = 'was given for another host: send the secret again'
    expect(faults).toEqual([
      { path: '/body/ticketing/token', message },
      { path: '/body/tools/0/headers/Authorization', message },
    ])
    expect(document.tools?.[1]?.headers).toEqual({ 'x-api-key': CANARIES.mcpHeader })
  })

  it('names each place where nothing is stored that could be kept', () => {
    const { faults } = keepStored(hideSecrets(FULL_DOCUMENT), null, '/body')
    expect(faults.map(({ path }) => path)).toEqual([
      '/body/auth_token',
      '/body/telephony/auth_token',
      '/body/telephony/auth_token_secondary',
      '/body/webhook/secret',
      '/body/webhook/secret_previous',
      '/body/ticketing/token',
      '/body/tools/0/headers/Authorization',
      '/body/tools/1/headers/x-api-key',
    ])
  })
})
