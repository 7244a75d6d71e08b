import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../log.ts'
import { openaiDriver } from './openai/driver.ts'
import type { RealtimeDriver } from './port.ts'

/** Where a model is reached and as whom. */
export type RealtimeSettings = { url: string; apiKey: string; clock: Clock; log: Log }

/** Every realtime model that Parley speaks with: a further one is a folder and a line here. */
export const REALTIME_DRIVERS = {
  openai: (settings) =>
    openaiDriver({
      ...settings,
      defaults: { model: 'gpt-realtime-2.1', voice: 'marin', transcriptionModel: 'gpt-4o-mini-transcribe' },
    }),
} satisfies Record<string, (settings: RealtimeSettings) => RealtimeDriver>

export type RealtimeProvider = keyof typeof REALTIME_DRIVERS

/** Their names, as REALTIME_PROVIDER takes them. */
export const REALTIME_PROVIDERS = Object.keys(REALTIME_DRIVERS) as RealtimeProvider[]

/** The model of this process. */
export function makeModel(provider: RealtimeProvider, settings: RealtimeSettings): RealtimeDriver {
  return REALTIME_DRIVERS[provider](settings)
}
