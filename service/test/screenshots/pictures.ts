import type { Look } from '../harness/chromium.ts'
import type { DemoService } from './demo-service.ts'

/** A page that is to be seen, what tells that it is drawn, and what is done in it before. */
export type Picture = {
  name: string
  at: string
  sign: string
  /** A button to press before. */
  press?: string
  /** What tells that the press has led to something. */
  leadsTo?: string
  look?: Look['colorScheme']
}

/** Those of the README. */
export function readmePictures({ ids }: DemoService, streamSid: string): Picture[] {
  const of = (path: string) => `t/demo/${path}`
  return [
    // First: somebody who says nothing more is hung up on.
    { name: 'live-call', at: of(`live/${streamSid}`), sign: 'You said:', look: 'dark' },
    { name: 'overview', at: of('overview?range=7d'), sign: 'Calls per' },
    {
      name: 'call',
      at: of(`calls/${ids.call}`),
      sign: 'Conversation',
      press: 'Load the recording',
      leadsTo: 'Download',
    },
    { name: 'agent', at: of(`agents/${ids.agent}`), sign: 'Rollout', look: 'dark' },
    { name: 'task', at: of(`desk/tasks/${ids.task}`), sign: 'Conversation' },
    { name: 'calls', at: of('calls'), sign: 'Every call', look: 'dark' },
  ]
}

/** All others, to be looked at by whoever changes them. */
export function otherPictures({ ids }: DemoService): Picture[] {
  const of = (path: string) => `t/demo/${path}`
  return [
    { name: 'all-tenants', at: '', sign: 'All tenants' },
    { name: 'talk', at: of('talk'), sign: 'Your call' },
    { name: 'live-calls', at: of('live'), sign: 'Robin' },
    { name: 'agents', at: of('agents'), sign: 'Front desk' },
    { name: 'version', at: of(`agents/${ids.agent}/versions/${ids.draft}`), sign: 'Try it in text' },
    { name: 'numbers', at: of('numbers'), sign: '+1 202 555 0100' },
    { name: 'desk', at: of('desk'), sign: 'Claim next of' },
    { name: 'queue', at: of('desk/queues/sales'), sign: 'Add hours' },
    { name: 'sweeps', at: of('desk/sweeps'), sign: 'Show what would be dispatched' },
    { name: 'do-not-call', at: of('do-not-call'), sign: 'Asked for it' },
    { name: 'campaigns', at: of('campaigns'), sign: 'Spring delivery' },
    { name: 'campaign', at: of(`campaigns/${ids.campaign}`), sign: '0 of 3 done' },
    { name: 'tenants', at: 'tenants', sign: 'Demo Company' },
    { name: 'settings', at: of('settings'), sign: 'Everything, as JSON' },
    { name: 'prompts', at: 'prompts', sign: 'polite' },
    { name: 'people', at: of('people'), sign: 'grace@demo.example' },
    { name: 'access-requests', at: 'access-requests', sign: 'Access requests' },
    { name: 'deliveries', at: of('deliveries'), sign: 'Deliveries' },
    { name: 'diagnostics', at: 'diagnostics', sign: 'Voices' },
    { name: 'audit-log', at: 'audit-log', sign: 'prompt.' },
    { name: 'logs', at: 'logs', sign: 'Live' },
  ]
}
