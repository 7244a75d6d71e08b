/** Drawn on 24 × 24, with lines of one width. */
const PATHS = {
  agents: 'M5 8h14v11H5zM12 8V4M9 13h.01M15 13h.01M9 16h6',
  audit: 'M6 3h9l4 4v14H6zM9 11h6M9 15h6',
  auto: 'M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18',
  back: 'M15 5l-7 7 7 7',
  calls: 'M5 4h4l2 5-2.500 1.500a11 11 0 0 0 5 5L15 13l5 2v4a1 1 0 0 1-1 1A15 15 0 0 1 4 5a1 1 0 0 1 1-1z',
  campaigns: 'M4 10v4h3l8 5V5l-8 5zM18 9a4 4 0 0 1 0 6',
  close: 'M6 6l12 12M18 6L6 18',
  conversations: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5M8 10h6M8 13h4',
  dark: 'M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500z',
  deliveries: 'M3 5h18v14H3zM3 7l9 6 9-6',
  desk: 'M9 5h6v3H9zM9 6H5v14h14V6h-4M8 13l2.500 2.500L16 11',
  diagnostics: 'M4 17a8 8 0 1 1 16 0M12 17l4-6',
  doNotCall: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM6 6l12 12',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  installation: 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z',
  light:
    'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.500 1.500M17.500 17.500L19 19M19 5l-1.500 1.500M6.500 17.500L5 19',
  live: 'M3 12h4l3-8 4 16 3-8h4',
  logs: 'M4 6l4 4-4 4M11 15h9M4 20h16',
  menu: 'M4 7h16M4 12h16M4 17h16',
  numbers: 'M9 4L7 20M17 4l-2 16M4 9h16M4 15h16',
  overview: 'M4 20V4M4 20h16M8 16v-4M12 16V8M16 16v-6',
  people:
    'M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM3 20a6 6 0 0 1 12 0M16 5a3 3 0 0 1 0 6M18 15a5 5 0 0 1 3 5',
  prompts: 'M4 5h16v11H10l-5 4v-4H4zM8 9h8M8 12h5',
  requests: 'M4 13l3-8h10l3 8v6H4zM4 13h5l1 3h4l1-3h5',
  settings: 'M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4',
  talk: 'M12 3a3 3 0 0 0-3 3v5a3 3 0 0 0 6 0V6a3 3 0 0 0-3-3zM5 11a7 7 0 0 0 14 0M12 18v3',
  tenants: 'M4 20V6l8-3 8 3v14M9 20v-5h6v5M9 9h.01M15 9h.01M9 12h.01M15 12h.01',
} as const

/** The name of a drawing. */
export type IconName = keyof typeof PATHS

/** A drawing beside words, or in a button that has a name. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      viewBox="0 0 24 24"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth={1.75}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
