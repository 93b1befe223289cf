// Economic event codes: United States.

/** Code to what it means (spec 2.9). */
export const usEventCodes: Readonly<Record<string, string>> = {
  GDP_GROWTH_RATE_QOQ: 'Real gross domestic product: growth over the quarter before, as an annual rate.',
  GDP_GROWTH_RATE_YOY: 'Real gross domestic product: growth over the same quarter of the year before.',
  GDP_PRICE_INDEX_QOQ:
    'Prices of everything that gross domestic product counts: growth over the quarter before, as an annual rate.',
  GDP_PERSONAL_CONSUMPTION_QOQ:
    'Consumer spending within gross domestic product: growth over the quarter before, as an annual rate.',
  GDP_NOWCAST_ATLANTA_FED:
    "The Atlanta Fed's running estimate (GDPNow) of growth in the quarter under way, as an annual rate.",
  INFLATION_CPI_NSA: 'Consumer price index for all urban consumers, not seasonally adjusted: its level.',
  INFLATION_RATE_HEADLINE_YOY: 'Consumer prices: change over a year.',
  INFLATION_RATE_HEADLINE_MOM: 'Consumer prices: change over the month before.',
  INFLATION_RATE_CORE_YOY: 'Consumer prices without food and energy: change over a year.',
  INFLATION_RATE_CORE_MOM: 'Consumer prices without food and energy: change over the month before.',
  INFLATION_PCE_PRICE_INDEX_YOY:
    "Prices of personal consumption expenditures, the measure of the Federal Reserve's target: change over a year.",
  INFLATION_PCE_PRICE_INDEX_MOM: 'Prices of personal consumption expenditures: change over the month before.',
  INFLATION_PCE_PRICE_INDEX_CORE_YOY:
    'Prices of personal consumption expenditures without food and energy: change over a year.',
  INFLATION_PCE_PRICE_INDEX_CORE_MOM:
    'Prices of personal consumption expenditures without food and energy: change over the month before.',
  INFLATION_PPI_HEADLINE_YOY: 'Producer prices of final demand: change over a year.',
  INFLATION_PPI_HEADLINE_MOM: 'Producer prices of final demand: change over the month before.',
  INFLATION_PPI_CORE_YOY: 'Producer prices of final demand without food and energy: change over a year.',
  INFLATION_PPI_CORE_MOM:
    'Producer prices of final demand without food and energy: change over the month before.',
  INFLATION_IMPORT_PRICES_MOM: 'Prices of imported goods: change over the month before.',
  INFLATION_EXPECTATIONS_MICHIGAN_1Y:
    "Inflation that consumers expect for the year ahead, by the University of Michigan's survey.",
  INFLATION_EXPECTATIONS_MICHIGAN_5Y:
    "Inflation that consumers expect for the next five to ten years, by the University of Michigan's survey.",
  EMPLOYMENT_NFP_HEADLINE: 'Nonfarm payrolls: jobs gained or lost in the month, farms not counted.',
  EMPLOYMENT_NFP_PRIVATE: 'Nonfarm payrolls of private employers: jobs gained or lost in the month.',
  EMPLOYMENT_NFP_MANUFACTURING: 'Manufacturing payrolls: jobs gained or lost in the month.',
  EMPLOYMENT_UNEMPLOYMENT_RATE: 'Share of the labor force that is without work and looks for it.',
  EMPLOYMENT_UNEMPLOYMENT_RATE_U6:
    'Share of the labor force that is unemployed, has given up looking, or works part time for want of full-time work (U-6).',
  EMPLOYMENT_PARTICIPATION_RATE: 'Share of the adult population that works or looks for work.',
  EMPLOYMENT_AVERAGE_HOURLY_EARNINGS_MOM:
    'Average hourly pay on private payrolls: change over the month before.',
  EMPLOYMENT_AVERAGE_HOURLY_EARNINGS_YOY: 'Average hourly pay on private payrolls: change over a year.',
  EMPLOYMENT_AVERAGE_WEEKLY_HOURS: 'Average hours worked in a week on private payrolls.',
  EMPLOYMENT_INITIAL_JOBLESS_CLAIMS:
    'People who claimed unemployment insurance for the first time in the week.',
  EMPLOYMENT_CONTINUING_JOBLESS_CLAIMS:
    'People who go on receiving unemployment insurance, in the week before that of the initial claims.',
  EMPLOYMENT_ADP_PRIVATE_PAYROLLS: "ADP's count of jobs gained or lost at private employers in the month.",
  EMPLOYMENT_JOLTS_JOB_OPENINGS:
    'Unfilled jobs at the end of the month, by the Job Openings and Labor Turnover Survey.',
  EMPLOYMENT_CHALLENGER_JOB_CUTS:
    'Job cuts that employers announced in the month, counted by Challenger, Gray & Christmas.',
  EMPLOYMENT_COST_INDEX_QOQ: 'Employment cost index, wages and benefits: change over the quarter before.',
  EMPLOYMENT_NONFARM_PRODUCTIVITY_QOQ:
    'Output per hour worked, farms not counted: change over the quarter before, as an annual rate.',
  EMPLOYMENT_UNIT_LABOR_COSTS_QOQ:
    'Labor cost of a unit of output, farms not counted: change over the quarter before, as an annual rate.',
  CONSUMPTION_RETAIL_SALES_HEADLINE_MOM:
    'Sales of shops, restaurants and online sellers: change over the month before.',
  CONSUMPTION_RETAIL_SALES_HEADLINE_YOY:
    'Sales of shops, restaurants and online sellers: change over a year.',
  CONSUMPTION_RETAIL_SALES_EX_AUTOS_MOM:
    'Retail sales without cars and car parts: change over the month before.',
  CONSUMPTION_RETAIL_SALES_CONTROL_GROUP_MOM:
    'Retail sales without cars, fuel, building materials and restaurants, as gross domestic product uses them: change over the month before.',
  CONSUMPTION_PERSONAL_INCOME_MOM: 'Income of persons from all sources: change over the month before.',
  CONSUMPTION_PERSONAL_SPENDING_MOM:
    'Spending of persons on goods and services: change over the month before.',
  CONSUMPTION_CONSUMER_CONFIDENCE_CB: "The Conference Board's index of consumer confidence.",
  CONSUMPTION_CONSUMER_SENTIMENT_MICHIGAN: "The University of Michigan's index of consumer sentiment.",
  CONSUMPTION_CONSUMER_CREDIT_CHANGE: 'Change in what consumers owe, mortgages not counted, over the month.',
  BUSINESS_PMI_MANUFACTURING_ISM:
    "The Institute for Supply Management's survey of manufacturers; above 50 they report growth.",
  BUSINESS_PMI_MANUFACTURING_PRICES_ISM:
    "Prices that manufacturers pay, by the Institute for Supply Management's survey; above 50 they rise.",
  BUSINESS_PMI_SERVICES_ISM:
    "The Institute for Supply Management's survey of services; above 50 they report growth.",
  BUSINESS_PMI_CHICAGO: 'Survey of businesses around Chicago (Chicago PMI); above 50 they report growth.',
  BUSINESS_PMI_MANUFACTURING_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in manufacturing; above 50 they report growth.",
  BUSINESS_PMI_SERVICES_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in services; above 50 they report growth.",
  BUSINESS_PMI_COMPOSITE_SP_GLOBAL:
    "S&P Global's survey of purchasing managers in manufacturing and services together; above 50 they report growth.",
  BUSINESS_EMPIRE_STATE_MANUFACTURING:
    "The New York Fed's survey of manufacturers in its state; above 0 conditions improve.",
  BUSINESS_PHILADELPHIA_FED_MANUFACTURING:
    "The Philadelphia Fed's survey of manufacturers in its district; above 0 conditions improve.",
  BUSINESS_DURABLE_GOODS_ORDERS_MOM:
    'New orders for goods that last three years or more: change over the month before.',
  BUSINESS_DURABLE_GOODS_ORDERS_EX_TRANSPORT_MOM:
    'New orders for durable goods without transport equipment: change over the month before.',
  BUSINESS_FACTORY_ORDERS_MOM: 'New orders of all factories: change over the month before.',
  BUSINESS_INDUSTRIAL_PRODUCTION_MOM:
    'Output of factories, mines and utilities: change over the month before.',
  BUSINESS_CAPACITY_UTILIZATION: 'Share of the capacity of factories, mines and utilities that is in use.',
  BUSINESS_WHOLESALE_INVENTORIES_MOM: 'Stocks held by wholesalers: change over the month before.',
  BUSINESS_LEADING_INDEX_CB_MOM:
    "The Conference Board's index of leading indicators: change over the month before.",
  BUSINESS_CRUDE_OIL_STOCKS_EIA:
    'Commercial stocks of crude oil, by the Energy Information Administration: change over the week.',
  BUSINESS_NATURAL_GAS_STORAGE_EIA:
    'Natural gas in storage, by the Energy Information Administration: change over the week.',
  HOUSING_STARTS_ABSOLUTE: 'Homes on which building began in the month, as an annual rate.',
  HOUSING_BUILDING_PERMITS_ABSOLUTE: 'Homes whose building was permitted in the month, as an annual rate.',
  HOUSING_EXISTING_HOME_SALES_ABSOLUTE: 'Sales of homes that had an owner before, as an annual rate.',
  HOUSING_NEW_HOME_SALES_ABSOLUTE: 'Sales of newly built homes, as an annual rate.',
  HOUSING_PENDING_HOME_SALES_MOM:
    'Signed contracts for existing homes, not yet closed: change over the month before.',
  HOUSING_PRICE_INDEX_CASE_SHILLER_20_YOY:
    'Prices of houses in twenty cities (S&P Case-Shiller): change over a year.',
  HOUSING_MARKET_INDEX_NAHB:
    'Confidence of home builders (NAHB); above 50 more see good conditions than poor ones.',
  HOUSING_MORTGAGE_RATE_30Y_MBA:
    'Average rate of a 30-year fixed mortgage in the week, by the Mortgage Bankers Association.',
  HOUSING_CONSTRUCTION_SPENDING_MOM:
    'Spending on construction, private and public: change over the month before.',
  TRADE_BALANCE: 'Exports of goods and services less imports in the month.',
  TRADE_EXPORTS: 'Value of the goods and services exported in the month.',
  TRADE_IMPORTS: 'Value of the goods and services imported in the month.',
  TRADE_CURRENT_ACCOUNT: 'Trade, income and transfers with the rest of the world in the quarter.',
  TRADE_NET_LONG_TERM_CAPITAL_FLOWS:
    'Net purchases of long-term securities across the border in the month (TIC).',
  BONDS_AUCTION_BILL_3M: 'Auction of 3-month Treasury bills: the highest accepted rate.',
  BONDS_AUCTION_NOTE_2Y: 'Auction of 2-year Treasury notes: the highest accepted yield.',
  BONDS_AUCTION_NOTE_10Y: 'Auction of 10-year Treasury notes: the highest accepted yield.',
  BONDS_AUCTION_BOND_30Y: 'Auction of 30-year Treasury bonds: the highest accepted yield.',
  BONDS_FEDERAL_BUDGET_BALANCE: 'What the federal government took in less what it spent in the month.',
  POLITICAL_EVENT_PRESIDENTIAL_ELECTION: 'Election of the President.',
  POLITICAL_EVENT_MIDTERM_ELECTION:
    'Election of the House of Representatives and a third of the Senate, midway through a presidential term.',
  POLITICAL_EVENT_STATE_OF_THE_UNION: "The President's address to Congress.",
  POLITICAL_EVENT_PRESIDENT_SPEECH: 'Speech or statement of the President that markets watch.',
  POLITICAL_EVENT_TREASURY_SECRETARY_SPEECH: 'Speech or testimony of the Secretary of the Treasury.',
  FED_POLICY_INTEREST_RATE_DECISION:
    "The Federal Reserve's decision on its target for the federal funds rate: the upper bound.",
  FED_POLICY_PRESS_CONFERENCE:
    "The Chair's press conference after a meeting of the Federal Open Market Committee.",
  FED_POLICY_MEETING_MINUTES:
    'Minutes of the last meeting of the Federal Open Market Committee, three weeks after it.',
  FED_POLICY_ECONOMIC_PROJECTIONS:
    "Forecasts of the committee's members for growth, unemployment, inflation and interest rates (the dot plot).",
  FED_POLICY_BEIGE_BOOK:
    'Reports on the economy from the twelve districts of the Federal Reserve, before each meeting.',
  FED_POLICY_BALANCE_SHEET: 'Total assets of the Federal Reserve in the week.',
  FED_SPEECH_CHAIR: 'Speech of the Chair of the Federal Reserve.',
  FED_SPEECH_GOVERNOR: 'Speech of a member of the Board of Governors.',
  FED_SPEECH_REGIONAL_PRESIDENT: 'Speech of the president of a regional Federal Reserve Bank.',
  FED_SPEECH_TESTIMONY: 'Testimony of the Chair before Congress.',
};
