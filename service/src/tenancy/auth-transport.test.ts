import { describe, expect, it } from 'vitest'
import { type TransportFacts, transportAlerts, transportDiagnostics, worstOf } from './auth-transport.ts'

const SOUND: TransportFacts = {
  hasStreamSecret: true,
  hasPreviousStreamSecret: false,
  hasEncryptionKey: true,
  takesQueryCredentials: false,
  takesLegacyBearer: false,
  takesUnsignedCallbacks: false,
  isPublicUrlSafe: true,
}

describe('how credentials travel', () => {
  it('is nothing to speak of when all is sound', () => {
    expect([transportAlerts(SOUND), worstOf([])]).toEqual([[], 'ok'])
  })

  it.each([
    ['stream_auth_primary_missing', 'critical', { hasStreamSecret: false, hasEncryptionKey: false }],
    ['stream_auth_previous_lingering', 'info', { hasPreviousStreamSecret: true }],
    ['legacy_query_auth_enabled', 'warning', { takesQueryCredentials: true }],
    ['legacy_bearer_auth_enabled', 'info', { takesLegacyBearer: true }],
    ['public_url_not_https', 'critical', { isPublicUrlSafe: false }],
    ['unsigned_callbacks_possible', 'critical', { takesUnsignedCallbacks: true }],
  ])('gives the alert %s', (code, severity, facts) => {
    const alerts = transportAlerts({ ...SOUND, ...facts })
    expect(alerts).toEqual([{ code, severity, message: expect.any(String), action: expect.any(String) }])
    expect(worstOf(alerts)).toBe(severity)
  })

  it('is as bad as the worst of it', () => {
    const alerts = transportAlerts({ ...SOUND, takesLegacyBearer: true, takesQueryCredentials: true })
    expect([alerts.map(({ severity }) => severity), worstOf(alerts)]).toEqual([['warning', 'info'], 'warning'])
  })

  it('counts the secrets that verify', () => {
    expect(transportDiagnostics({ ...SOUND, hasPreviousStreamSecret: true })).toEqual({
      ...{ legacy_query_auth_enabled: false, stream_auth_previous_configured: true },
      ...{ stream_auth_primary_configured: true, stream_auth_secret_count: 2 },
    })
  })
})
