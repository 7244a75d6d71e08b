import type { Clock } from '../../kernel/clock.ts'
import { AppError, assertNever } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { CallOff, SessionEvent, TransferFault } from '../session/events.ts'
import type { BegunTransfer, CallTransfer, TransferRequest } from './transfer.ts'

type Deps = {
  clock: Clock
  /** Null for a call that no carrier has. */
  carrier: CallTransfer | null
  dispatch(event: SessionEvent): void
  /** The transfer that the session is in, or null. */
  current(): string | null
}

type Wanted = {
  id: string
  request: TransferRequest
  begun: BegunTransfer | null
  resolve(): void
  reject(error: unknown): void
}

/** Puts one call through to others: what the session decides about it is done here. */
export class CallTransfers {
  readonly #deps: Deps
  #wanted: Wanted | null = null

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /**
   * Has the call put through, and resolves when the carrier has begun with that. `isAgents`: the agent wants it, whose last words
   * are heard first, and who is told by this what became of the beginning.
   *
   * @throws AppError `invalid_request` for a target that is not allowed, `conflict` when the call cannot be put through now,
   *   `upstream_failed` when the carrier does not do it.
   */
  async transfer(request: TransferRequest, isAgents: boolean): Promise<void> {
    const { clock, carrier, dispatch, current } = this.#deps
    if (!carrier) throw new AppError('conflict', 'The call has no carrier that could put it through.')
    carrier.expectTarget(request.target)
    // A tool begins in the middle of an event.
    await Promise.resolve()
    if (this.#wanted) throw cannotBeTransferred()
    const id = newId<string>(clock.now())
    const begun = new Promise<void>((resolve, reject) => {
      this.#wanted = { id, request, begun: null, resolve, reject }
    })
    dispatch({ type: 'transfer', id, target: request.target, isWarm: request.isWarm, isAgents })
    if (current() !== id) this.#leave(id, cannotBeTransferred())
    return begun
  }

  get held(): string[] {
    return this.#wanted ? ['transfer'] : []
  }

  /** The carrier is asked. */
  begin(): void {
    const { carrier, dispatch, current } = this.#deps
    const wanted = this.#wanted
    if (!carrier || !wanted) return
    const { id, request } = wanted
    const news = {
      sent: () => this.#tell(id, { type: 'transfer_sent' }),
      gone: () => void this.#tell(id, { type: 'taker_gone' }),
      through: () => {
        // A carrier that has failed to say that it had begun may have left our stream for the target all the same.
        if (this.#wanted?.id !== id && current() !== id) return
        // Nothing of it is to be cancelled any more.
        this.#leave(id, null)
        dispatch({ type: 'transferred' })
      },
      failed: (why: TransferFault) => {
        // What fails before it has begun is told to who waits for that.
        this.#failed(id, why, wanted.begun ? null : new AppError('upstream_failed', 'Nobody there takes the call.'))
      },
    }
    carrier.begin(id, request, news).then(
      (begun) => {
        if (this.#wanted !== wanted) return begun.cancel()
        wanted.begun = begun
        wanted.resolve()
        dispatch({ type: request.isWarm ? 'transfer_ringing' : 'transfer_sent' })
      },
      (error: unknown) => {
        this.#failed(id, 'failed', error)
      },
    )
  }

  /** False where it is not wanted any more. */
  #tell(id: string, event: SessionEvent): boolean {
    const isWanted = this.#wanted?.id === id
    if (isWanted) this.#deps.dispatch(event)
    return isWanted
  }

  /** Who waits is told why first: the session then calls off whatever is left of the transfer, and knows less of why. */
  #failed(id: string, why: TransferFault, error: unknown): void {
    if (this.#wanted?.id !== id) return
    this.#leave(id, error)
    this.#deps.dispatch({ type: 'transfer_failed', why })
  }

  /** Who waits for the beginning is told, where it did not come to that. */
  #leave(id: string, error: unknown): void {
    const wanted = this.#wanted
    if (wanted?.id !== id) return
    this.#wanted = null
    if (error === null) wanted.resolve()
    else wanted.reject(error)
  }

  /** It is not wanted any more, or over. */
  cancel(why: CallOff): void {
    const wanted = this.#wanted
    if (!wanted) return
    this.#wanted = null
    wanted.begun?.cancel()
    wanted.reject(calledOff(why))
  }

  /** The call is others' from now on. */
  leave(): void {
    const wanted = this.#wanted
    if (!wanted) return
    this.#wanted = null
    wanted.begun?.leave()
    wanted.reject(calledOff('ending'))
  }

  /** The target has the call, though nobody has told us. */
  putThrough(): void {
    const wanted = this.#wanted
    this.#wanted = null
    // Nothing more of it is waited for.
    wanted?.begun?.leave()
    wanted?.resolve()
    this.#deps.carrier?.putThrough()
  }
}

function cannotBeTransferred(): AppError {
  const why = 'it is ending, its stream is lost, a person has it, or it is being put through'
  return new AppError('conflict', `The call cannot be transferred now: ${why}.`)
}

const SPOKEN =
  'The caller spoke before the call was put through, so it was not. Answer what they said; if they still want to be put through, transfer the call again.'
const UNKNOWN =
  'The caller spoke before the call was put through, so it was not, and what they said was lost on the line. Apologise in a few words and ask them to say it again; if they still want to be put through, transfer the call again.'

/** What the agent is told of it by its tool. */
function calledOff(why: CallOff): AppError {
  switch (why) {
    case 'ending':
      return new AppError('conflict', 'The call is ending.')
    case 'spoken':
      return new AppError('conflict', SPOKEN)
    case 'unknown':
      return new AppError('conflict', UNKNOWN)
    case 'late':
      return new AppError('upstream_failed', 'The call was not put through: the carrier did not begin with it in time.')
    default:
      return assertNever(why)
  }
}
