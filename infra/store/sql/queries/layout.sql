select parts from store.layout
