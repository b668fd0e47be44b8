/* Nodes of the C++ library's containers: what they keep is known by its type only, and lies in bytes. */
#include <list>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

struct Entry {
    int price;
    char text[80];
    int qty;
    long created;
    long total() const;
};
long Entry::total() const
{
    return (long)price * qty;
}

std::list<Entry> list;
std::map<int, Entry> map;
std::set<int> set;
std::map<std::string, std::string> texts;
std::unordered_map<long, Entry> table;

std::_List_node<Entry> list_node;
std::_Rb_tree_node<std::pair<const int, Entry>> tree_node;
std::_Rb_tree_node<int> set_node;
std::_Rb_tree_node<std::pair<const std::string, std::string>> text_node;
std::__detail::_Hash_node<std::pair<const long, Entry>, false> hash_node;

int main()
{
    list.emplace_back();
    map[1].qty = 2;
    set.insert(3);
    texts["a"] = "b";
    table[4].price = 5;
    return (int)(list.front().total() + map[1].total() + table[4].total());
}
