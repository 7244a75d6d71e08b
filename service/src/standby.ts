import type { Deps } from './deps.ts'
import { type AppError, notSetUp } from './kernel/errors.ts'
import type { TelephonyDriver } from './platform/telephony/port.ts'
import { type Carriers, TELEPHONY_PROVIDERS } from './platform/telephony/registry.ts'

/** What is told to whoever wants more of a process that stands by than it does. */
export function standsBy(): AppError {
  return notSetUp(
    'STANDBY is true: this process places and takes no calls, delivers and erases nothing, and takes changes of configuration alone. Ask the service that is in use, or start this one without STANDBY.',
  )
}

/**
 * The outside world of a process that stands by: nobody is there whom it could ask or tell. Who logs in may still be asked for at the
 * identity provider, which that person has chosen to do.
 */
export function withoutOutside(deps: Deps): Deps {
  const nobody = { model: null, fallbackModel: null, chat: null, speech: null, secondVoice: null, mailer: null }
  return { ...deps, ...nobody, carriers: unasked(deps.carriers), outbound: { request: refuse } }
}

async function refuse(): Promise<never> {
  throw standsBy()
}

/** They read and write their wire as before, which takes no network. */
function unasked(carriers: Carriers): Carriers {
  const requests = {
    ...{ createCall: refuse, listCalls: refuse, endCall: refuse, updateCall: refuse, fetchCall: refuse },
    ...{ cancelCall: refuse, connectNumber: refuse },
  } satisfies Partial<TelephonyDriver>
  const made = TELEPHONY_PROVIDERS.map((name): [string, TelephonyDriver] => [name, { ...carriers[name], ...requests }])
  // Sound: the names are those of the table.
  return Object.fromEntries(made) as Carriers
}
