import { type CataloguedEvent, EVENT_CATALOGUE, exampleOf } from '../../service/src/event-catalogue.ts'

/** The page that shows each event: when it comes, and an example of what is posted. */
export function eventsPage(): string {
  return `# Events

What is posted to a tenant's \`webhook.url\`, each as it stands in the body. How it is signed, repeated and ordered: [webhooks](webhooks.md).
Every event has the same envelope; the thing that changed stands in \`payload\`, in the shape in which the API shows it. An event without
a call has \`""\` as \`call_sid\` and \`voice_session_id\`. Members may be added in later versions; none is taken away.

A webhook gets the events that its \`events\` name, or all but \`voice.transcript.turn\`. Any other name is a 400.

| event | comes when |
| --- | --- |
${EVENT_CATALOGUE.map(({ event, when }) => `| [\`${event}\`](#${event.replaceAll('.', '')}) | ${when} |`).join('\n')}

${EVENT_CATALOGUE.map(section).join('\n')}`
}

function section(entry: CataloguedEvent): string {
  return `## ${entry.event}

${entry.when}

\`\`\`json
${JSON.stringify(exampleOf(entry), null, 2)}
\`\`\`
`
}
