import { Drawer } from '@mantine/core'
import { useReturnFocus } from '../components/use-return-focus.ts'
import { NavigationList } from './navigation-list.tsx'

type NavigationDrawerProps = { isOpen: boolean; onClose: () => void }

/** The places that one may go to, over the page. */
export function NavigationDrawer({ isOpen, onClose }: NavigationDrawerProps) {
  // The library would not give it back the first time: the drawer is open when it comes.
  useReturnFocus(isOpen)
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      title="Parley"
      size={280}
      returnFocus={false}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <NavigationList onGo={onClose} />
    </Drawer>
  )
}
