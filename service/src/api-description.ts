import { API_NOTES } from './api-notes.ts'
import { EVENT_CATALOGUE, exampleOf } from './event-catalogue.ts'
import type { ApiFacts } from './platform/http/openapi/document.ts'
import type { Schema } from './platform/http/openapi/schema.ts'
import { registeredRoutes } from './platform/http/registered-routes.ts'
import type { HttpServer } from './platform/http/server.ts'
import { VoiceSession } from './records/voice-session-shape.ts'
import { AgentVersionConfig, StoredAgentConfig } from './tenancy/agent-config.ts'
import { TenantDocument } from './tenancy/tenant-document.ts'

/** What no answer wraps as it is. The end of a session is told without what supervisors did in it. */
const NAMED = { TenantDocument, AgentVersionConfig, StoredAgentConfig, EndedVoiceSession: VoiceSession }

/** Everything that the descriptions of the API are made of: the routes of the server as they were registered, and the events. */
export function apiFacts(server: HttpServer, publicUrl: string): ApiFacts {
  return {
    routes: registeredRoutes(server),
    notes: API_NOTES,
    named: NAMED as object as Record<string, Schema>,
    events: EVENT_CATALOGUE.map((entry) => ({
      event: entry.event,
      when: entry.when,
      payload: entry.payload as Schema,
      example: exampleOf(entry),
    })),
    publicUrl,
  }
}
