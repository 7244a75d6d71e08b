import { ActionIcon, useMantineColorScheme } from '@mantine/core'
import { Icon } from '../components/icon.tsx'

const NEXT = { auto: 'light', light: 'dark', dark: 'auto' } as const
const NAMES = { auto: 'as this machine', light: 'light', dark: 'dark' }

/** Light, dark, or whatever this machine shows everywhere else. */
export function ColourSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const next = NEXT[colorScheme]
  const label = `Colours: ${NAMES[colorScheme]}. Change to ${NAMES[next]}`
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={label}
      title={label}
      onClick={() => setColorScheme(next)}
    >
      <Icon name={colorScheme} />
    </ActionIcon>
  )
}
