import type { TelephonyDriver } from './port.ts'
import { twilioDriver } from './twilio/driver.ts'

/** Where a carrier is reached. */
export type TelephonySettings = { apiBaseUrl: string }

/** Every carrier that Parley works with: a further one is a folder and a line here. */
export const TELEPHONY_DRIVERS = {
  twilio: twilioDriver,
} satisfies Record<string, (settings: TelephonySettings) => TelephonyDriver>

export type TelephonyProvider = keyof typeof TELEPHONY_DRIVERS

/** Their names, as a tenant document's `telephony.provider` takes them. */
export const TELEPHONY_PROVIDERS = Object.keys(TELEPHONY_DRIVERS) as TelephonyProvider[]

/** The carriers of this process, by name. */
export type Carriers = Readonly<Record<TelephonyProvider, TelephonyDriver>>

export function makeCarriers(settings: TelephonySettings): Carriers {
  const made = Object.entries(TELEPHONY_DRIVERS).map(([name, make]) => [name, make(settings)] as const)
  // Sound: the names are those of the table.
  return Object.fromEntries(made) as Carriers
}

/** Whose wire is spoken where it is not known yet, or never will be, whose call this is. */
export const DEFAULT_CARRIER: TelephonyProvider = 'twilio'
