import { redactorFor } from '../kernel/redaction/redact.ts'
import type { CallJournal } from '../records/journal.ts'
import { cutTurn, type JournaledTool } from '../records/journal-entry.ts'
import { keysIn, pressed } from '../records/pressed-keys.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveEvents } from './live-events.ts'
import { tellNote, tellTurn } from './live-notes.ts'
import { isClip } from './session/clip-id.ts'
import type { LiveNote, Turn } from './session/events.ts'
import { targetIn } from './session/not-through.ts'

/**
 * The one door through which the words of a call leave it: into the journal, and so into the database, its files and the events of
 * webhooks; and to those who watch. Behind it, a tenant that wants it so has no personal data in them. The model, the caller and
 * the tools are told what was said.
 */
export type KeptWords = {
  turn(turn: Turn): void
  tool(tool: JournaledTool): void
  note(note: LiveNote): void
}

type To = { tenant: TenantRuntime; journal: Pick<CallJournal, 'append' | 'tool'>; events: LiveEvents }

export function keptWords({ tenant, journal, events }: To): KeptWords {
  const redactor = redactorFor(tenant.compliance.redact_pii)

  function clean(turn: Turn): Turn {
    const cut = { text: cutTurn(turn.text), unheard: cutTurn(turn.unheard) }
    if (isOwn(turn)) return { ...turn, ...cut }
    if (turn.role !== 'system') return { ...turn, ...redactor.turn(cut) }
    const keys = keysIn(cut.text)
    return { ...turn, ...(keys === null ? redactor.note(cut) : { ...cut, text: pressed(redactor.keys(keys)) }) }
  }

  return {
    turn(turn) {
      const kept = redactor.isOn ? clean(turn) : turn
      journal.append(kept)
      tellTurn(events, kept)
    },
    tool(tool) {
      const { argumentsText, result } = tool
      const kept = {
        argumentsText: redactor.json(argumentsText),
        result: result === null ? null : redactor.json(result),
      }
      journal.tool({ ...tool, ...kept })
    },
    note(note) {
      // Half of a number is none yet: whoever watches has the words when they are whole.
      if (redactor.isOn && note.type === 'turn_delta') return
      tellNote(events, note)
    },
  }
}

/**
 * Words of the tenant's own configuration: a clip, or where a call is put through to. A call that goes on in another process is
 * picked up by them, as they stand there.
 */
function isOwn({ itemId, role, text }: Turn): boolean {
  return isClip(itemId) || (role === 'system' && targetIn(text) !== null)
}
