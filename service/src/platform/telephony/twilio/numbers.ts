import { type CarrierAccount, CarrierError, type NumberAddresses } from '../port.ts'
import { type CarrierAnswer, requestCarrier } from './request.ts'

/** What the carrier asks or tells, and how. */
type NumberAddress = { url: string; method: string }

/** A phone number of the account; null is what is not set. */
export type CarrierNumber = {
  sid: string
  phoneNumber: string
  /** Whether calls can come in at all: some numbers take text messages only. */
  takesCalls: boolean
  /** Asked what to do when the number is rung. */
  voice: NumberAddress | null
  /** Asked when `voice` failed. */
  fallback: NumberAddress | null
  /** Told how calls end. */
  status: NumberAddress | null
  /** An application at the carrier: while there is one, its addresses count and those of the number do not. */
  applicationSid: string | null
  /** A SIP trunk: while there is one, calls go there and none of the addresses counts. */
  trunkSid: string | null
}

/** The carrier's REST requests about phone numbers. Each takes a signal that bounds it, and throws `CarrierError`. */
export type NumberRequests = ReturnType<typeof makeNumberRequests>

/** @param baseUrl the REST base, such as `https://api.twilio.com`. */
export function makeNumberRequests(baseUrl: string) {
  const collection = ({ accountSid }: CarrierAccount) =>
    `${baseUrl}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}/IncomingPhoneNumbers`

  return {
    /** The number, or null when the account does not own it. */
    async find(account: CarrierAccount, phoneNumber: string, signal: AbortSignal): Promise<CarrierNumber | null> {
      const url = `${collection(account)}.json?PhoneNumber=${encodeURIComponent(phoneNumber)}`
      const { incoming_phone_numbers: found } = await requestCarrier(account, { url, signal })
      if (!Array.isArray(found)) throw new CarrierError('unknown', 'The carrier sent no list of numbers.')
      // The carrier also gives numbers that merely contain the one that was asked for.
      return found.map(toNumber).find((number) => number.phoneNumber === phoneNumber) ?? null
    },

    /**
     * Sets the addresses of a number, and takes an application away that would hide them. Repeating it changes nothing.
     * Returns the number as the carrier has it now.
     */
    async connect(
      account: CarrierAccount,
      { sid, applicationSid }: CarrierNumber,
      addresses: NumberAddresses,
      signal: AbortSignal,
    ): Promise<CarrierNumber> {
      const form = {
        VoiceUrl: addresses.voice,
        VoiceMethod: 'POST',
        VoiceFallbackUrl: addresses.fallback,
        VoiceFallbackMethod: 'POST',
        StatusCallback: addresses.status,
        StatusCallbackMethod: 'POST',
        ...(applicationSid !== null && { VoiceApplicationSid: '' }),
      }
      const url = `${collection(account)}/${encodeURIComponent(sid)}.json`
      return toNumber(await requestCarrier(account, { url, form, signal }))
    },
  }
}

function toNumber(body: CarrierAnswer): CarrierNumber {
  const { sid, phone_number: phoneNumber, capabilities } = body
  if (typeof sid !== 'string' || typeof phoneNumber !== 'string')
    throw new CarrierError('unknown', 'The carrier sent a number without its sid or digits.')
  return {
    sid,
    phoneNumber,
    takesCalls: (capabilities as { voice?: unknown } | undefined)?.voice !== false,
    voice: addressOf(body, 'voice_url', 'voice_method'),
    fallback: addressOf(body, 'voice_fallback_url', 'voice_fallback_method'),
    status: addressOf(body, 'status_callback', 'status_callback_method'),
    applicationSid: textOf(body['voice_application_sid']),
    trunkSid: textOf(body['trunk_sid']),
  }
}

function addressOf(body: CarrierAnswer, url: string, method: string): NumberAddress | null {
  const address = textOf(body[url])
  return address === null ? null : { url: address, method: textOf(body[method]) ?? 'POST' }
}

/** The carrier writes what is not set as null or as an empty text. */
function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
