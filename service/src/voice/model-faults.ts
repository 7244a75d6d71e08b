import type { TenantId } from '../kernel/ids.ts'
import type { Log } from '../platform/log.ts'
import type { ModelEvent, ModelFault, ModelListener } from '../platform/realtime/port.ts'

type Deps = {
  log: Pick<Log, 'info' | 'warn' | 'error'>
  call: { tenantId: TenantId; callSid: string }
  /** Called for every trouble, told in the log or not. */
  count(code: string): void
}

type Trouble = { what: string; code: string; message: string | null; fault: ModelFault }

/** Comes once in a session, last. */
const OVER = 'a model session is over'

/** Different troubles of one session that get a line of their own before its end: the codes are the provider's, and may be any. */
const MAX_TOLD = 16

/** Who runs the service must act on the first, and may want to know of the last. */
const LEVELS = { fatal: 'error', setup: 'error', retry: 'warn', expired: 'info', benign: 'info' } as const

/**
 * Passes on what a model session says, and tells the log first what the provider does not do and why: its code is what an
 * operator needs when a caller hears an apology. Each trouble is told once in a session; all of them are counted.
 */
export function withFaultsTold(listener: ModelListener, { log, call, count }: Deps): ModelListener {
  const told = new Set<string>()

  function tell({ what, ...trouble }: Trouble): void {
    count(trouble.code)
    const key = `${what} ${trouble.code}`
    if (told.has(key) || (told.size >= MAX_TOLD && what !== OVER)) return
    told.add(key)
    log[LEVELS[trouble.fault]]({ tenant_id: call.tenantId, call_sid: call.callSid, ...trouble }, what)
  }

  return {
    event(event) {
      const trouble = troubleOf(event)
      if (trouble) tell(trouble)
      listener.event(event)
    },
    audio: (responseId, itemId, payload) => listener.audio(responseId, itemId, payload),
  }
}

/** The provider's words come without secrets: its driver has taken them out. */
function troubleOf(event: ModelEvent): Trouble | null {
  switch (event.type) {
    case 'closed':
      return { what: OVER, code: event.code, message: event.message, fault: event.fault }
    case 'refused':
      return { what: 'a model refused a request', code: event.code, message: event.message, fault: event.fault }
    case 'response_done':
      if (event.fault === null) return null
      return {
        what: 'a model answer failed',
        code: event.errorCode ?? 'unknown_error',
        message: null,
        fault: event.fault,
      }
    default:
      return null
  }
}
