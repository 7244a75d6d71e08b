import { redactorFor } from '../kernel/redaction/redact.ts'
import type { CallJournal } from '../records/journal.ts'
import { cutTurn, type JournaledTool } from '../records/journal-entry.ts'
import type { TenantRuntime } from '../tenancy/tenant-runtime.ts'
import type { LiveEvents } from './live-events.ts'
import { tellNote, tellTurn } from './live-notes.ts'
import type { LiveNote, Turn } from './session/events.ts'

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
    return { ...turn, ...(turn.role === 'system' ? redactor.note(cut) : redactor.turn(cut)) }
  }

  return {
    turn(turn) {
      const kept = redactor.isOn ? clean(turn) : turn
      journal.append(kept)
      tellTurn(events, kept)
    },
    tool(tool) {
      const { argumentsText, result } = tool
      journal.tool({ ...tool, argumentsText: redactor.json(argumentsText), result: redactor.json(result) })
    },
    note(note) {
      // Half of a number is none yet: whoever watches has the words when they are whole.
      if (redactor.isOn && note.type === 'turn_delta') return
      tellNote(events, note)
    },
  }
}
