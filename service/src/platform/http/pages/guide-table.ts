/** A part of the hub, with its pages by the name of their file, and what each is good for. */
export type Section = { title: string; pages: Record<string, string> }

/** The order of the hub. A page that is in no section stands at the end of the one before the last. */
export const SECTIONS: Section[] = [
  {
    title: 'Start',
    pages: {
      'getting-started': 'From nothing to a call, with curl.',
      simulator: 'Calls without an account: a carrier and a model that are simulated.',
      'going-live': 'A real number, a real model, a telephone that rings.',
    },
  },
  {
    title: 'Build',
    pages: {
      'outbound-calls': 'Place calls, and repeat a request safely.',
      'browser-calls': 'A page or an app whose users talk with an agent, without a telephone.',
      agents: 'What agents can be set to, and how versions share their calls.',
      'secondary-audio': "Another voice than the model's, and what happens when it fails.",
      tools: 'What agents can do: your addresses, and servers of tools.',
      evaluations: 'How good calls were, and rollouts that follow from it.',
      simulations: 'Try a version with callers that are made up, before real ones have it.',
      analytics: 'What calls came to: by hour, day, agent and version.',
      webhooks: 'Be told what happens: signatures, repeats, order.',
      campaigns: 'Call a list of people, at a pace, within hours.',
      costs: 'What calls cost, and what stops them from costing more.',
      'dial-gate': 'Which calls go out, and which are refused.',
      recordings: 'Record calls, and listen to them.',
      redaction: 'Keep what was said without card, telephone and other long numbers.',
      erasure: 'Erase what was said, by session, by number, or by age.',
      operators: 'Callback tasks, queues, do-not-call.',
    },
  },
  {
    title: 'Reference',
    pages: {
      'by-name': 'What others call it, what it is called here, and where it stands.',
      errors: 'Every code, what it means, what to do; rate limits.',
      events: 'Every event that is posted, with an example.',
      configuration: 'Every setting and its default.',
    },
  },
  {
    title: 'Operate',
    pages: {
      deployment: 'Databases, many nodes, containers, probes, logs.',
      dashboard: 'The page that people work with, and how to add to it.',
      admin: 'Logins, people and their roles, the audit log.',
      tenants: 'Documents, runtime settings, prompts, what nodes remember.',
    },
  },
  {
    title: 'Inside',
    pages: {
      architecture: 'What lies where in the code, and why.',
      timelines: 'Where the time of a turn goes, and how to run a call again.',
      performance: 'What was measured, and how.',
      interface: 'All that is promised, row by row, and the test of each.',
      proof: 'What was run, and what it printed.',
      dependencies: 'What is not ours, and what it spares us.',
    },
  },
]
