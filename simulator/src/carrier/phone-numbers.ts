import type { Clock } from './clock.ts'
import { RestError } from './rest-error.ts'
import { makeSid } from './sid.ts'

/** What a number of the account does when it is rung. */
export type NumberSettings = {
  voiceUrl: string
  voiceMethod: string
  voiceFallbackUrl: string
  voiceFallbackMethod: string
  statusCallback: string
  statusCallbackMethod: string
}

/** A number of the account. */
export type PhoneNumber = {
  sid: string
  phoneNumber: string
  createdAt: Date
  updatedAt: Date
  settings: NumberSettings
}

const FIELDS: Record<keyof NumberSettings, string> = {
  voiceUrl: 'VoiceUrl',
  voiceMethod: 'VoiceMethod',
  voiceFallbackUrl: 'VoiceFallbackUrl',
  voiceFallbackMethod: 'VoiceFallbackMethod',
  statusCallback: 'StatusCallback',
  statusCallbackMethod: 'StatusCallbackMethod',
}

/** The numbers that the account owns. */
export class PhoneNumbers {
  #clock: Clock
  #accountSid: string
  #numbers = new Map<string, PhoneNumber>()

  constructor(clock: Clock, accountSid: string) {
    this.#clock = clock
    this.#accountSid = accountSid
  }

  /** Makes a number the account's own; one that is already is only given back. */
  add(phoneNumber: string): PhoneNumber {
    const known = this.find(phoneNumber)
    if (known) return known
    const now = this.#clock.date()
    const settings = {
      voiceUrl: '',
      voiceMethod: 'POST',
      voiceFallbackUrl: '',
      voiceFallbackMethod: 'POST',
      statusCallback: '',
      statusCallbackMethod: 'POST',
    }
    const number = { sid: makeSid('PN'), phoneNumber, createdAt: now, updatedAt: now, settings }
    this.#numbers.set(number.sid, number)
    return number
  }

  find(phoneNumber: string): PhoneNumber | null {
    return [...this.#numbers.values()].find((number) => number.phoneNumber === phoneNumber) ?? null
  }

  get count(): number {
    return this.#numbers.size
  }

  /** The numbers as the REST surface lists them; `phoneNumber` narrows to one when it is not empty. */
  list(phoneNumber: string): Record<string, unknown>[] {
    return [...this.#numbers.values()]
      .filter((number) => phoneNumber === '' || number.phoneNumber.includes(phoneNumber))
      .map((number) => this.#toJson(number))
  }

  /** One number. @throws RestError 20404 */
  fetch(sid: string): Record<string, unknown> {
    return this.#toJson(this.#get(sid))
  }

  /** Changes what the form names. @throws RestError 20404 unknown, 21402 when an address is none */
  update(sid: string, form: URLSearchParams): Record<string, unknown> {
    const number = this.#get(sid)
    for (const key of Object.keys(FIELDS) as (keyof NumberSettings)[]) {
      const value = form.get(FIELDS[key])
      if (value === null) continue
      const isAddress = key === 'voiceUrl' || key === 'voiceFallbackUrl' || key === 'statusCallback'
      if (isAddress && value !== '' && !URL.canParse(value)) throw new RestError(21402, `${FIELDS[key]} is not valid`)
      number.settings[key] = isAddress ? value : value.toUpperCase()
    }
    number.updatedAt = this.#clock.date()
    return this.#toJson(number)
  }

  #get(sid: string): PhoneNumber {
    const number = this.#numbers.get(sid)
    if (!number) throw new RestError(20404, `The requested resource ${sid} was not found`)
    return number
  }

  #toJson({ sid, phoneNumber, createdAt, updatedAt, settings }: PhoneNumber): Record<string, unknown> {
    return {
      sid,
      account_sid: this.#accountSid,
      phone_number: phoneNumber,
      friendly_name: phoneNumber,
      api_version: '2010-04-01',
      capabilities: { voice: true, sms: false, mms: false, fax: false },
      voice_url: settings.voiceUrl,
      voice_method: settings.voiceMethod,
      voice_fallback_url: settings.voiceFallbackUrl,
      voice_fallback_method: settings.voiceFallbackMethod,
      status_callback: settings.statusCallback,
      status_callback_method: settings.statusCallbackMethod,
      date_created: createdAt.toUTCString(),
      date_updated: updatedAt.toUTCString(),
      uri: `/2010-04-01/Accounts/${this.#accountSid}/IncomingPhoneNumbers/${sid}.json`,
    }
  }
}
