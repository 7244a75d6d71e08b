import { Drawer } from '@mantine/core'
import { NavigationList } from './navigation-list.tsx'

type NavigationDrawerProps = { isOpen: boolean; onClose: () => void }

/** The places that one may go to, over the page. */
export function NavigationDrawer({ isOpen, onClose }: NavigationDrawerProps) {
  return (
    <Drawer opened={isOpen} onClose={onClose} title="Parley" size={280} closeButtonProps={{ 'aria-label': 'Close' }}>
      <NavigationList onGo={onClose} />
    </Drawer>
  )
}
