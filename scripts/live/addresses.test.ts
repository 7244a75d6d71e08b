import { describe, expect, it } from 'vitest'
import { numberAddresses, publicAddress, publicAddressFault, streamAddress } from './addresses.ts'

const REAL = 'https://api.twilio.com'
const SIMULATED = 'http://127.0.0.1:4010'

const faultOf = (publicUrl: string | null, telephonyApiUrl: string) =>
  publicAddressFault({ publicUrl, telephonyApiUrl, port: 8080 })

describe('publicAddressFault', () => {
  it.each([
    ['https://voice.example.com', REAL],
    ['https://voice.example.com:8443', REAL],
    ['https://voice.example.com', SIMULATED],
    ['http://127.0.0.1:8080', SIMULATED],
    ['http://[::1]:8080', SIMULATED],
    [null, SIMULATED],
  ])('lets %s pass for the carrier at %s', (publicUrl, api) => {
    expect(faultOf(publicUrl, api)).toBeNull()
  })

  it.each([
    [null, REAL, 'PUBLIC_URL is not set'],
    ['http://localhost:8080', REAL, 'cannot reach this machine'],
    ['https://127.0.0.2', REAL, 'cannot reach this machine'],
    ['https://[::1]', REAL, 'cannot reach this machine'],
    ['https://parley.localhost', REAL, 'cannot reach this machine'],
    ['http://voice.example.com', REAL, 'TLS only'],
    ['http://voice.example.com', SIMULATED, 'TLS only'],
  ])('finds fault with %s for the carrier at %s', (publicUrl, api, told) => {
    expect(faultOf(publicUrl, api)).toContain(told)
  })
})

describe('the addresses of the service', () => {
  it('stand below the public one', () => {
    expect(publicAddress({ publicUrl: null, port: 9090 })).toBe('http://localhost:9090')
    expect(numberAddresses('https://a.example.com').voice).toBe('https://a.example.com/api/v1/incoming-call')
    expect(streamAddress('https://a.example.com')).toBe('wss://a.example.com/media-stream')
    expect(streamAddress('http://localhost:1')).toBe('ws://localhost:1/media-stream')
  })
})
